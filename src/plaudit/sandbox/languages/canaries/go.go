package main

import (
	"fmt"
	"os"
)

func main() {
	var a, b int
	fmt.Scan(&a, &b)
	reached := "possible"
	if _, err := os.Open("/etc/passwd"); err != nil {
		reached = "refused"
	}
	fmt.Println(a+b, reached)
}
