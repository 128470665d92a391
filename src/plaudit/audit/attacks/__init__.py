"""The attack families: each module holds operators that write wrong responses of one family."""
