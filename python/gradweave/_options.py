"""Keyword arguments that the calls share."""

import difflib
import functools
import inspect

from ._errors import OptionError


def options(function):
    """Lets a call with an unknown keyword say which ones there are."""
    known = [
        p.name
        for p in inspect.signature(function).parameters.values()
        if p.kind is not inspect.Parameter.POSITIONAL_ONLY
    ]

    @functools.wraps(function)
    def call(*arguments, **given):
        for name in given:
            if name not in known:
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
