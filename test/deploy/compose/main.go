// Loads a compose file as Docker Compose does (compose-go is its library), and prints it resolved, as JSON. Arguments: the file, and its .env.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/compose-spec/compose-go/v2/cli"
)

func main() {
	options, err := cli.NewProjectOptions(os.Args[1:2], cli.WithEnvFiles(os.Args[2]), cli.WithDotEnv)
	if err != nil {
		fail(err)
	}
	project, err := options.LoadProject(context.Background())
	if err != nil {
		fail(err)
	}
	text, err := project.MarshalJSON()
	if err != nil {
		fail(err)
	}
	fmt.Println(string(text))
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
