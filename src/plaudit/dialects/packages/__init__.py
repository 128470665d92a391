"""What stands in for the home packages of foreign reward files where these are not installed, one file each.

Stand-ins have the names, keywords, defaults and numbers of the real package; names that only its documentation has
(`LengthReward(target=200)`) mean what the documentation says.
"""
