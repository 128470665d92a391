#include <stdio.h>
int main(void) {
    int a, b;
    if (scanf("%d %d", &a, &b) != 2) return 1;
    printf("%d %s\n", a + b, fopen("/etc/passwd", "r") ? "possible" : "refused");
    return 0;
}
