// Command registry is distribution's registry with what the sandbox needs of it, and no cloud's storage.
package main

import (
	"github.com/distribution/distribution/v3/registry"

	_ "github.com/distribution/distribution/v3/registry/auth/htpasswd"
	_ "github.com/distribution/distribution/v3/registry/storage/driver/filesystem"
)

func main() { registry.RootCmd.Execute() }
