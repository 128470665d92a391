"""What runs in the process that starts compilers and programs: its root, its system-call filters, its loop."""
