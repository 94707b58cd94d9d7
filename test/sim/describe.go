package sim

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Start is the instant at which every virtual clock starts.
var Start = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// maxFieldText is how much of a value is shown where a change is described.
const maxFieldText = 120

// untold are fields that change with every write, or that follow from others.
var untold = []string{"metadata.resourceVersion", "metadata.generation", "status.observedGeneration"}

// clockText is the time since the clock's start.
func clockText(t time.Time) string { return fmt.Sprintf("%9s", t.Sub(Start)) }

// changedFields describes what differs between two forms of an object, for people: "status.state Active -> Dead".
func changedFields(before, after Object) []string {
	switch {
	case before == nil:
		return nil
	case after == nil:
		return []string{"gone"}
	}
	old, updated := flatten(before), flatten(after)
	var changes []string
	for _, field := range unionOfKeys(old, updated) {
		if slices.Contains(untold, field) || old[field] == updated[field] {
			continue
		}
		changes = append(changes, fmt.Sprintf("%s %s -> %s", field, shorten(old[field]), shorten(updated[field])))
	}
	return changes
}

// flatten gives the leaves and lists of an object as text, by path.
func flatten(object Object) map[string]string {
	fields := map[string]string{}
	encoded, err := json.Marshal(object)
	if err != nil {
		return fields
	}
	var tree map[string]any
	if json.Unmarshal(encoded, &tree) == nil {
		flattenInto(fields, "", tree)
	}
	return fields
}

func flattenInto(fields map[string]string, path string, value any) {
	nested, isMap := value.(map[string]any)
	if !isMap {
		text, _ := json.Marshal(value)
		fields[path] = string(text)
		return
	}
	for key, inner := range nested {
		if key == "conditions" {
			flattenConditions(fields, inner)
			continue
		}
		flattenInto(fields, strings.TrimPrefix(path+"."+key, "."), inner)
	}
}

// flattenConditions gives status and reason of each condition by its type.
func flattenConditions(fields map[string]string, list any) {
	conditions, _ := list.([]any)
	for _, one := range conditions {
		if condition, isMap := one.(map[string]any); isMap {
			fields[fmt.Sprint(condition["type"])] = fmt.Sprintf("%v/%v", condition["status"], condition["reason"])
		}
	}
}

func shorten(text string) string {
	if text == "" {
		return "none"
	}
	if len(text) > maxFieldText {
		return text[:maxFieldText] + "..."
	}
	return text
}

func unionOfKeys(a, b map[string]string) []string {
	keys := maps.Clone(a)
	maps.Copy(keys, b)
	return slices.Sorted(maps.Keys(keys))
}
