package cluster

import (
	"bytes"
	_ "embed" // the configuration of the programs
	"fmt"
	"os"
	"text/template"
)

// Prefix is the domain of the labels and annotations by which a person or a test sets the behavior of nodes and pods.
const Prefix = "localcluster.rollcall.dev"

//go:embed config/audit-policy.yaml
var auditPolicy []byte

//go:embed config/stages.yaml
var stagesTemplate string

// stageContext is what a part of the template of the stages may refer to.
type stageContext struct {
	Prefix string
	// Name of the stage that begins.
	Name string
	// Ready is whether the pod is to be ready.
	Ready bool
}

// writeConfig writes the configuration files of a cluster's programs.
func writeConfig(layout Layout) error {
	stages, err := renderStages()
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{"audit-policy.yaml": auditPolicy, "stages.yaml": stages} {
		if err := os.WriteFile(layout.config(name), content, 0o600); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}

// renderStages returns the stages in KWOK's form.
func renderStages() ([]byte, error) {
	functions := template.FuncMap{
		"pod":   func(name string) stageContext { return stageContext{Prefix: Prefix, Name: name} },
		"ready": func(ready bool) stageContext { return stageContext{Prefix: Prefix, Ready: ready} },
	}
	parsed, err := template.New("stages").Delims("[[", "]]").Funcs(functions).Parse(stagesTemplate)
	if err != nil {
		return nil, fmt.Errorf("read the stages of pods and nodes: %w", err)
	}
	var stages bytes.Buffer
	if err := parsed.Execute(&stages, stageContext{Prefix: Prefix}); err != nil {
		return nil, fmt.Errorf("write the stages of pods and nodes: %w", err)
	}
	return stages.Bytes(), nil
}
