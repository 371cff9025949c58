"""Keyword arguments that the calls share."""

import functools

from ._errors import OptionError


def options(function):
    """Lets a call with an unknown keyword say which ones there are."""
    code = function.__code__
    known = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]

    @functools.wraps(function)
    def call(*arguments, **given):
        for name in given:
            if name not in known:
                import difflib  # which takes longer to load than to run, and is seldom needed

                close = difflib.get_close_matches(name, known, 1)
                hint = f"; did you mean {close[0]}?" if close else ""
                raise OptionError(
                    f"{function.__name__}() has no option '{name}'{hint} There are: {', '.join(known)}"
                )
        return function(*arguments, **given)

    return call


def given(local, *without):
    """Arguments of a call as a dict, without those that are None."""
    return {name: value for name, value in local.items() if name not in without and value is not None}
