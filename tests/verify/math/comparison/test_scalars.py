"""Single values: numbers, amounts with units, percentages, angles, ratios and times."""

import pytest

from tests.verify.math.answer_pairs import are_different, are_same, pairs

SAME = r"""
# numbers
42  ~~  42.0
1000  ~~  1,000
10000  ~~  10{,}000
5460  ~~  5,\!460
7  ~~  ７
-3  ~~  −3
1/2  ~~  \frac12
\frac{1}{2}  ~~  0.5
\dfrac{3}{4}  ~~  \tfrac34
3/2  ~~  1\frac{1}{2}
1.5  ~~  1 1/2
-\frac{5}{2}  ~~  -2\frac12
0.5  ~~  .5
4  ~~  004
1200  ~~  1.2 \times 10^3
0.00015  ~~  1.5e-4
\frac13  ~~  0.\overline{3}
\frac16  ~~  0.1\overline{6}
1/6  ~~  0.1666...
1/6  ~~  0.16 repeating
100000  ~~  10^5
8  ~~  2^3
13  ~~  \text{13}
10 000  ~~  10000
120  ~~  5!
10  ~~  \binom{5}{2}
4  ~~  2+2
6  ~~  3 \cdot 2
2  ~~  17 \bmod 5
15  ~~  \sum_{k=1}^{5} k
24  ~~  \prod_{k=1}^{4} k
3  ~~  \lfloor \pi \rfloor
5  ~~  |-5|
1  ~~  \gcd(4, 9)
0  ~~  -0
2  ~~  \frac{-4}{-2}
10  ~~  \$10
-5  ~~  -\$5.00

# amounts
125 miles  ~~  125\textnormal{ miles}
10  ~~  10\text{ units}
864 \mbox{ inches}^2  ~~  864
90  ~~  90^\circ
48 km/h  ~~  48 \mathrm{~km}/\mathrm{h}
10\%  ~~  10
10\%  ~~  0.1
20  ~~  20\%
0.2  ~~  20\%
12  ~~  12^{\mathrm{th}}
60^\circ 42'  ~~  60.7^\circ
3:1  ~~  3
1:2  ~~  2:4
12:00  ~~  12:00
4210_7  ~~  4210_{7}
\frac{\pi}{3}  ~~  60^\circ
"""

DIFFERENT = r"""
# numbers
42  ~~  43
1/2^{99}  ~~  1/2^{98}
1/2004!  ~~  1/2006!
5  ~~  5.001
1001  ~~  1001.5
12  ~~  1,2
10  ~~  -10
3.15  ~~  3.14159
100  ~~  1
2.5  ~~  5.2
9^{9^9}  ~~  9^{9^9}+1
3  ~~  3.0000000001
1331, 1728  ~~  1728
\binom{40}{10}  ~~  \binom{40}{11}
1  ~~  -1
0.3333  ~~  1/3 + 1
4  ~~  4\sqrt2
2^{1009}  ~~  2^{1008}

# amounts
12 cm  ~~  12 m
4  ~~  400\%
12:00  ~~  1:00
45\text{ units}^2  ~~  45\text{ units}^4
4210_7  ~~  4210_8
3:1  ~~  2
5 dollars  ~~  5 cents
2 hours  ~~  120 minutes
1\text{ m}  ~~  100 cm
52_8  ~~  42
6.67\%  ~~  \frac18
48 km/h  ~~  48 m/s
90^\circ  ~~  80^\circ
0.5  ~~  0.5\%
"""


@pytest.mark.parametrize(("truth", "answer"), pairs(SAME))
def test_single_values_that_say_the_same_are_equal_in_both_directions(truth, answer):
    assert are_same(truth, answer)


@pytest.mark.parametrize(("truth", "answer"), pairs(DIFFERENT))
def test_different_single_values_are_never_equal(truth, answer):
    assert are_different(truth, answer)
