package house_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	reasonsPage = "docs/conditions.md"
	apiPackage  = "api/v1alpha1"
)

var (
	camelCase = regexp.MustCompile(`^[A-Z][a-z]+([A-Z][A-Za-z]*)*$`)
	// shownName finds the API's constants that a person gets to see as a word.
	shownName = regexp.MustCompile(`^(Reason|Rebalance|Presence|Member|Group)[A-Z]`)
	// reasonName finds a package's own constants that are reasons.
	reasonName = regexp.MustCompile(`^reason[A-Z]`)
	firstCell  = regexp.MustCompile("(?m)^\\| `([A-Za-z]+)` \\|")
)

// What a person reads in a state, a condition or an event must be on the page that says what to do about it.
func TestEveryReasonIsExplained(t *testing.T) {
	page := string(read(t, filepath.Join(root, reasonsPage)))
	shown := shownWords(t)
	for _, word := range slices.Sorted(maps.Keys(shown)) {
		if !strings.Contains(page, "`"+word+"`") {
			t.Errorf("%s does not explain `%s`, which is used in %s", reasonsPage, word, shown[word])
		}
	}
	for _, match := range firstCell.FindAllStringSubmatch(page, -1) {
		if shown[match[1]] == "" {
			t.Errorf("%s explains `%s`, which nothing shows any more", reasonsPage, match[1])
		}
	}
}

// shownWords are the words, each with a place where it is used.
func shownWords(t *testing.T) map[string]string {
	t.Helper()
	constants := map[string]string{}
	inspect(t, apiPackage, func(_ string, node ast.Node) { collectConstants(node, shownName, constants) })
	shown := map[string]string{}
	for _, folder := range pure {
		inspect(t, folder, func(place string, node ast.Node) {
			for _, word := range wordsAt(node, constants) {
				shown[word] = place
			}
		})
	}
	inspect(t, "coordinator", func(place string, node ast.Node) {
		if text, ok := literal(node); ok && camelCase.MatchString(text) {
			shown[text] = place
		}
	})
	for _, kind := range []string{"ConsumerGroup", "ControllerRevision"} {
		delete(shown, kind)
	}
	// The rest of these events' reason is the request's outcome.
	if place := shown["RebalanceRequest"]; place != "" {
		delete(shown, "RebalanceRequest")
		shown["RebalanceRequestAccepted"], shown["RebalanceRequestRejected"] = place, place
	}
	return shown
}

// wordsAt are the words that a node shows: a constant of the API, or one of the package's own reasons.
func wordsAt(node ast.Node, constants map[string]string) []string {
	if selector, ok := node.(*ast.SelectorExpr); ok {
		if word := constants[selector.Sel.Name]; camelCase.MatchString(word) {
			return []string{word}
		}
		return nil
	}
	own := map[string]string{}
	collectConstants(node, reasonName, own)
	return slices.Collect(maps.Values(own))
}

// collectConstants adds a declaration's string constants whose name fits.
func collectConstants(node ast.Node, name *regexp.Regexp, into map[string]string) {
	spec, ok := node.(*ast.ValueSpec)
	if !ok {
		return
	}
	for i, ident := range spec.Names {
		if !name.MatchString(ident.Name) || i >= len(spec.Values) {
			continue
		}
		if text, ok := literal(spec.Values[i]); ok {
			into[ident.Name] = text
		}
	}
}

func literal(node ast.Node) (string, bool) {
	lit, ok := node.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}

// inspect visits the nodes of a folder's Go files, tests and folders below aside.
func inspect(t *testing.T, folder string, visit func(place string, node ast.Node)) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	files := token.NewFileSet()
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") || generated(read(t, path)) {
			continue
		}
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(node ast.Node) bool {
			if node != nil {
				position := files.Position(node.Pos())
				visit(strings.TrimPrefix(position.Filename, root+"/")+":"+strconv.Itoa(position.Line), node)
			}
			return true
		})
	}
}
