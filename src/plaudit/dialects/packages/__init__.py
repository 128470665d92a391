"""Stubs of packages that foreign reward files import, for those that need other packages; one file each.

Stubs have the names, keywords, defaults and numbers of the real package; names that only its documentation has
(`LengthReward(target=200)`) mean what the documentation says.
"""
