"""One-to-one assignment with the greatest total weight.

Where the best columns of all rows differ, they are the assignment; else the Hungarian algorithm finds it in O(n³).
"""

from collections.abc import Sequence


def assign(weights: Sequence[Sequence[float]]) -> list[int | None]:
    """The column of each row, such that no column is used twice and the sum of weights is greatest.

    A row gets None if there are fewer columns than rows.

    >>> assign([[1, 1], [1, 0]])
    [1, 0]
    """
    rows, columns = len(weights), len(weights[0]) if weights else 0
    if not columns:
        return [None] * rows
    best = [max(range(columns), key=row.__getitem__) for row in weights]
    if len(set(best)) == rows:
        return list(best)
    if rows > columns:
        row_of = assign([[weights[row][column] for row in range(rows)] for column in range(columns)])
        column_of = {row: column for column, row in enumerate(row_of)}
        return [column_of.get(row) for row in range(rows)]
    row_in = _assign_rows(weights, rows, columns)
    column_in = {row: column for column, row in enumerate(row_in) if row is not None}
    return [column_in[row] for row in range(rows)]


def _assign_rows(weights: Sequence[Sequence[float]], rows: int, columns: int) -> list[int | None]:
    """The row in each column; every row, of which there are at most as many as columns, is in one.

    Rows are added one by one along the shortest augmenting path under potentials.
    """
    row_potential, column_potential = [0.0] * rows, [0.0] * columns
    row_in: list[int | None] = [None] * columns
    for new_row in range(rows):
        slack, previous = [float("inf")] * columns, [-1] * columns
        visited: list[int] = []
        unvisited = set(range(columns))
        row, last, distance = new_row, -1, 0.0
        while True:
            for column in unvisited:
                cost = distance - weights[row][column] - row_potential[row] - column_potential[column]
                if cost < slack[column]:
                    slack[column], previous[column] = cost, last
            last = min(unvisited, key=slack.__getitem__)
            distance = slack[last]
            visited.append(last)
            unvisited.remove(last)
            occupant = row_in[last]
            if occupant is None:
                break
            row = occupant
        row_potential[new_row] += distance
        for column in visited[:-1]:
            occupant = row_in[column]
            assert occupant is not None
            row_potential[occupant] += distance - slack[column]
            column_potential[column] -= distance - slack[column]
        while last != -1:
            before = previous[last]
            row_in[last] = new_row if before == -1 else row_in[before]
            last = before
    return row_in
