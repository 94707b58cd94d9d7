package pki

import (
	"encoding/json"
	"fmt"
)

// Kubeconfig returns the file by which a user reaches a cluster. It is JSON, which is YAML too. authority is the PEM
// certificate of the authority that signed the server's.
func Kubeconfig(cluster, server, user string, authority []byte, pair Pair) ([]byte, error) {
	type named map[string]any
	file := map[string]any{
		"apiVersion":      "v1",
		"kind":            "Config",
		"current-context": cluster,
		"clusters": []named{{"name": cluster, "cluster": map[string]any{
			"server": server, "certificate-authority-data": authority,
		}}},
		"users": []named{{"name": user, "user": map[string]any{
			"client-certificate-data": pair.Certificate, "client-key-data": pair.Key,
		}}},
		"contexts": []named{{"name": cluster, "context": map[string]any{"cluster": cluster, "user": user}}},
	}
	content, err := json.MarshalIndent(file, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the kubeconfig of %s: %w", user, err)
	}
	return append(content, '\n'), nil
}
