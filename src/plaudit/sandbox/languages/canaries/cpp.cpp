#include <fstream>
#include <iostream>
int main() {
    int a, b;
    std::cin >> a >> b;
    std::cout << a + b << (std::ifstream("/etc/passwd") ? " possible" : " refused") << std::endl;
}
