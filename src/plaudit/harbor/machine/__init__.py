"""The processes that hold a workspace: standard library only, since they run apart from the rest of plaudit."""
