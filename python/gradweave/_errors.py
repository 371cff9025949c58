"""What can go wrong."""


class Error(Exception):
    """A file, a network or an NPU is wrong, or a run could not be done.

    The message names what is wrong and the remedy, as that of the command does.

    Attributes:
        file (str or None): the file at fault, if one is known. Of a graph built in Python it is the Python file.
        line (int or None): its line, if one is known.
    """

    def __init__(self, message, file=None, line=None):
        super().__init__(message)
        self.file = file
        self.line = line


class OptionError(Error, ValueError):
    """An argument of a call: its name, or its value."""


class RunError(Error):
    """A run ended, but not well: a bit is wrong, the NPU stopped, a layer does not fit.

    Attributes:
        report (dict): of the run, as the call would have returned it.
    """

    def __init__(self, message, file=None, line=None, report=None):
        super().__init__(message, file, line)
        self.report = report
