"""How `make test` divides the tests among workers: by file, and so that the death of a worker costs one test.

xdist gives the file of a worker that died to another one together with the test that killed it, and assigns files to
replacement workers that have not collected yet. The run then loses all its workers, stops with an internal error, or
waits for ever. Here the test that was running has failed, by name, and the others of its file still run.
"""

import contextlib

import pytest


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return file_scheduling()(config, log) if config.getvalue("dist") == "loadfile" else None


def file_scheduling(groups=()):
    """The scheduler; each group of files is one unit of work."""
    from xdist.scheduler import LoadFileScheduling

    units = {file: group[0] for group in groups for file in group}

    class FileScheduling(LoadFileScheduling):
        def _split_scope(self, nodeid):
            file = super()._split_scope(nodeid)
            return units.get(file, file)

        def remove_node(self, node):
            """Drop the test that was running and all that is done, so that only the rest is assigned again."""
            workload = self.assigned_work[node]
            waiting = [(unit, test) for unit in workload.values() for test, done in unit.items() if not done]
            if waiting:
                unit, crashed = waiting[0]
                unit[crashed] = True
            for file in [file for file, unit in workload.items() if all(unit.values())]:
                del workload[file]
            super().remove_node(node)
            return crashed if waiting else None

        def _reschedule(self, node):
            """Give a worker work until it has two tests, or tell it that there is no more.

            A worker begins a test when it knows the next one, or that there is none: with one test it would wait.
            """
            if node not in self.registered_collections:
                return  # a replacement that still collects gets its work afterwards
            super()._reschedule(node)
            while not node.shutting_down and self._pending_of(self.assigned_work[node]) < 2:
                super()._reschedule(node)

        def _assign_work_unit(self, node):
            with contextlib.suppress(OSError):  # the worker has just died: `remove_node` assigns its work again
                super()._assign_work_unit(node)

    return FileScheduling
