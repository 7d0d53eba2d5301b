// Command schemas writes JSON schemas for kubeconform: schemas FOLDER SWAGGER [CRD ...].
// It takes the kinds of Kubernetes from its OpenAPI document, and others from custom resource definitions. The schemas
// are strict: they reject unknown properties.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

type object = map[string]any

func main() {
	if len(os.Args) < 3 {
		fail("usage: schemas FOLDER SWAGGER [CRD ...]")
	}
	folder := os.Args[1]
	var swagger struct {
		Definitions map[string]object `json:"definitions"`
	}
	read(os.Args[2], &swagger)
	for name, definition := range swagger.Definitions {
		switch {
		case strings.HasSuffix(name, ".IntOrString"):
			swagger.Definitions[name] = object{"type": []string{"string", "integer"}}
		case strings.HasSuffix(name, ".Quantity"):
			swagger.Definitions[name] = object{"type": []string{"string", "number"}}
		default:
			rejectUnknown(definition)
		}
	}
	for name, definition := range swagger.Definitions {
		kinds, isKind := definition["x-kubernetes-group-version-kind"].([]any)
		if !isKind || len(kinds) != 1 { // a part of a kind, or a type that several groups share, such as DeleteOptions
			continue
		}
		gvk := kinds[0].(object)
		used := map[string]object{}
		collect(swagger.Definitions, name, used)
		write(folder, gvk["group"].(string), gvk["version"].(string), gvk["kind"].(string),
			object{"$ref": "#/definitions/" + name, "definitions": used})
	}
	for _, file := range os.Args[3:] {
		writeCustom(folder, file)
	}
}

// writeCustom writes a schema for each version of a custom resource definition.
func writeCustom(folder, file string) {
	var crd struct {
		Spec struct {
			Group    string `json:"group"`
			Names    struct{ Kind string }
			Versions []struct {
				Name   string
				Schema struct {
					OpenAPIV3Schema object `json:"openAPIV3Schema"`
				}
			}
		} `json:"spec"`
	}
	read(file, &crd)
	for _, version := range crd.Spec.Versions {
		schema := version.Schema.OpenAPIV3Schema
		rejectUnknown(schema)
		// The definition leaves the metadata to Kubernetes.
		schema["properties"].(object)["metadata"] = object{"type": "object"}
		write(folder, crd.Spec.Group, version.Name, crd.Spec.Names.Kind, schema)
	}
}

// rejectUnknown makes every object in the schema that lists its properties reject others.
func rejectUnknown(schema any) {
	switch node := schema.(type) {
	case object:
		_, open := node["additionalProperties"]
		if _, ok := node["properties"].(object); ok && !open && node["x-kubernetes-preserve-unknown-fields"] != true {
			node["additionalProperties"] = false
		}
		if node["x-kubernetes-int-or-string"] == true {
			delete(node, "type")
		}
		for _, child := range node {
			rejectUnknown(child)
		}
	case []any:
		for _, child := range node {
			rejectUnknown(child)
		}
	}
}

// collect adds a definition and those that it refers to.
func collect(all map[string]object, name string, used map[string]object) {
	if _, done := used[name]; done {
		return
	}
	used[name] = all[name]
	collectFrom(all, all[name], used)
}

func collectFrom(all map[string]object, node any, used map[string]object) {
	switch node := node.(type) {
	case object:
		if ref, ok := node["$ref"].(string); ok {
			collect(all, strings.TrimPrefix(ref, "#/definitions/"), used)
		}
		for _, child := range node {
			collectFrom(all, child, used)
		}
	case []any:
		for _, child := range node {
			collectFrom(all, child, used)
		}
	}
}

// write stores a schema under the name by which kubeconform looks it up.
func write(folder, group, version, kind string, schema object) {
	name := strings.ToLower(kind)
	if group != "" {
		name += "-" + strings.Split(group, ".")[0]
	}
	content, err := json.Marshal(schema)
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, name+"-"+version+".json"), content, 0o600)
	}
	if err != nil {
		fail(err)
	}
}

func read(file string, into any) {
	content, err := os.ReadFile(file)
	if err == nil {
		err = yaml.Unmarshal(content, into)
	}
	if err != nil {
		fail(fmt.Errorf("%s: %w", file, err))
	}
}

func fail(problem any) {
	fmt.Fprintln(os.Stderr, "schemas:", problem)
	os.Exit(1)
}
