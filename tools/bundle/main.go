// Command bundle builds web/dist from web/src with esbuild.
//
// It is a module of its own, so that the product's go.mod stays free of the bundler. The names of its files are
// fixed (index.html, main.js, chunk.js, main.css, later.js, licences.txt) and the bytes depend on the sources alone;
// dist is committed, and the build machine proves it equal to its sources by building it again.
//
//	go run -C tools/bundle .              build
//	go run -C tools/bundle . -watch      build, and again after every change
package main

import (
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/evanw/esbuild/pkg/api"
)

func main() {
	web := flag.String("web", filepath.Join("..", "..", "web"), "folder of the page's sources")
	out := flag.String("out", "", "folder to write; empty: dist in the page's folder")
	watch := flag.Bool("watch", false, "build again after every change, with readable output")
	limit := flag.Int("limit", 150_000, "bytes that a browser loads of the page at most, gzipped")
	flag.Parse()
	if *out == "" {
		*out = filepath.Join(*web, "dist")
	}
	if err := run(*web, *out, *watch, *limit); err != nil {
		fmt.Fprintln(os.Stderr, "bundle:", err)
		os.Exit(1)
	}
}

func run(web, out string, watch bool, limit int) error {
	web, err := filepath.Abs(web)
	if err != nil {
		return err
	}
	if out, err = filepath.Abs(out); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(web, "node_modules", "preact")); err != nil {
		return fmt.Errorf("no packages in %s: run `npm ci` there first", web)
	}
	options := options(web, out)
	if watch {
		return watchFor(options, web, out)
	}
	options.Write = false
	result := api.Build(options)
	if len(result.Errors) > 0 {
		return fmt.Errorf("%d errors, see above", len(result.Errors))
	}
	files := map[string][]byte{}
	for _, f := range result.OutputFiles {
		files[filepath.Base(f.Path)] = f.Contents
	}
	for _, name := range []string{"index.html", "licences.txt"} {
		if files[name], err = os.ReadFile(filepath.Join(web, "src", name)); err != nil {
			return err
		}
	}
	return write(out, files, limit)
}

// options of the build. Legal comments stay at the end of the file, and
// everything that could depend on the machine is off.
func options(web, out string) api.BuildOptions {
	return api.BuildOptions{
		AbsWorkingDir:     web,
		EntryPoints:       []string{"src/main.tsx"},
		EntryNames:        "main",
		Splitting:         true,
		ChunkNames:        "[name]",
		Outdir:            out,
		Bundle:            true,
		Format:            api.FormatESModule,
		Target:            api.ES2022,
		Platform:          api.PlatformBrowser,
		JSX:               api.JSXAutomatic,
		JSXImportSource:   "preact",
		Charset:           api.CharsetUTF8,
		LegalComments:     api.LegalCommentsEndOfFile,
		MinifyWhitespace:  true,
		MinifyIdentifiers: true,
		MinifySyntax:      true,
		TreeShaking:       api.TreeShakingTrue,
		Loader:            map[string]api.Loader{".json": api.LoaderJSON, ".svg": api.LoaderText},
		LogLevel:          api.LogLevelWarning,
	}
}

// write replaces the content of dist, file by file, and prints the size of each
// as it travels. More than the limit is an error; later.js is loaded when a part in it is opened,
// licences by who asks for them.
func write(out string, files map[string][]byte, limit int) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	old, err := os.ReadDir(out)
	if err != nil {
		return err
	}
	for _, e := range old {
		if _, keep := files[e.Name()]; !keep {
			if err := os.RemoveAll(filepath.Join(out, e.Name())); err != nil {
				return err
			}
		}
	}
	total := 0
	for _, name := range []string{"index.html", "main.js", "chunk.js", "main.css", "later.js", "licences.txt"} {
		content, ok := files[name]
		if !ok {
			return fmt.Errorf("the build made no %s", name)
		}
		if err := os.WriteFile(filepath.Join(out, name), content, 0o644); err != nil {
			return err
		}
		n := gzipped(content)
		if name != "licences.txt" && name != "later.js" {
			total += n
		}
		fmt.Printf("%-12s %8d bytes %8d gzipped\n", name, len(content), n)
	}
	fmt.Printf("%-12s %8s       %8d gzipped\n", "page", "", total)
	if total > limit {
		return fmt.Errorf("the page is %d bytes gzipped, more than %d", total, limit)
	}
	return nil
}

func gzipped(b []byte) int {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Write(b) // a bytes.Buffer takes everything
	w.Close()
	return out.Len()
}

// watchFor builds after every change until it is interrupted.
func watchFor(options api.BuildOptions, web, out string) error {
	options.Write = true
	options.MinifyIdentifiers, options.MinifySyntax, options.MinifyWhitespace = false, false, false
	options.Sourcemap = api.SourceMapInline
	options.LogLevel = api.LogLevelInfo
	page, err := os.ReadFile(filepath.Join(web, "src", "index.html"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, "index.html"), page, 0o644); err != nil {
		return err
	}
	ctx, failure := api.Context(options)
	if failure != nil {
		return failure
	}
	defer ctx.Dispose()
	if err := ctx.Watch(api.WatchOptions{}); err != nil {
		return err
	}
	select {}
}
