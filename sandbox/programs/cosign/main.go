// Command cosign is sigstore's cosign without the key stores of clouds.
package main

import (
	"fmt"
	"os"

	"github.com/sigstore/cosign/v2/cmd/cosign/cli"
)

func main() {
	if err := cli.New().Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}
