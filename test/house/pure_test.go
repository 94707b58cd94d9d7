package house_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// What runs at the same time as something else gives an answer that depends on chance.
func TestPurePackagesStartNothing(t *testing.T) {
	for _, folder := range pure {
		t.Run(folder, func(t *testing.T) {
			for _, path := range goFiles(t, filepath.Join(root, folder)) {
				if !strings.HasSuffix(path, "_test.go") {
					checkStartsNothing(t, path)
				}
			}
		})
	}
}

func checkStartsNothing(t *testing.T, path string) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(node ast.Node) bool {
		switch node.(type) {
		case *ast.GoStmt:
			t.Errorf("%s: a pure package starts no goroutine", files.Position(node.Pos()))
		case *ast.SelectStmt, *ast.SendStmt, *ast.ChanType:
			t.Errorf("%s: a pure package waits for nobody", files.Position(node.Pos()))
		}
		return true
	})
}
