package main

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/parallax-hpc/parallax/web"
)

func licencesCommand() *command {
	return &command{
		name: "licences", summary: "print the licences of the built-in libraries",
		help: "All modules that are linked and packages that the page is made of, each with its licence. The same " +
			"text is beside the program in a release.\n\n  parallax licences | less",
		run: runLicences,
	}
}

func runLicences(_ context.Context, e *env, args []string) error {
	if len(args) > 0 {
		return usage("licences: takes no arguments")
	}
	text, err := fs.ReadFile(web.Files(), "licences.txt")
	if err != nil {
		return fmt.Errorf("licences: %w", err)
	}
	_, err = e.stdout.Write(text)
	return err
}
