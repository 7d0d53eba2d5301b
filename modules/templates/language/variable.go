package language

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/runtime/base/fault"
)

// Types of a variable.
const (
	TypeString  = "string"
	TypeNumber  = "number"
	TypeBoolean = "boolean"
	TypeList    = "list"
	TypeObject  = "object"
)

// Types lists the types of variables.
func Types() []string { return []string{TypeString, TypeNumber, TypeBoolean, TypeList, TypeObject} }

// ValidateVariables validates the declared variables of a template. It returns them with their fallbacks and examples
// in the form that FillVariables expects, and adds errors by field.
func ValidateVariables(list []shape.Variable, wrong fault.Fields) []shape.Variable {
	if len(list) > MaxVariables {
		wrong.Add("variables", "has %d variables; the limit is %d", len(list), MaxVariables)
		return nil
	}
	out := make([]shape.Variable, len(list))
	types := map[string]string{}
	for i, v := range list {
		path := fmt.Sprintf("variables[%d]", i)
		if reason := badKey(v.Key); reason != "" {
			wrong.Add(path+".key", "%s", reason)
		}
		if _, twice := types[v.Key]; twice {
			wrong.Add(path+".key", "must be unique")
		}
		types[v.Key] = v.Type
		if !slices.Contains(Types(), v.Type) {
			wrong.Add(path+".type", "must be one of %s", strings.Join(Types(), ", "))
		} else {
			v.Fallback = checkValue(path+".fallback", v.Type, v.Fallback, wrong)
			v.Example = checkValue(path+".example", v.Type, v.Example, wrong)
		}
		out[i] = v
	}
	for i, v := range list {
		for parent := parentOf(v.Key); parent != ""; parent = parentOf(parent) {
			if typ, declared := types[parent]; declared && typ != TypeObject {
				wrong.Add(fmt.Sprintf("variables[%d].key", i), "is a part of %s, which is not of type object", parent)
			}
		}
	}
	if encoded, err := json.Marshal(out); err != nil || len(encoded) > maxDeclarations {
		wrong.Add("variables", "must have at most %d bytes", maxDeclarations)
	}
	return out
}

// checkValue converts an optional value of a declaration for Liquid, and adds an error if it is not of the type.
func checkValue(path, typ string, value any, wrong fault.Fields) any {
	if value == nil {
		return nil
	}
	taken, reason := takeValue(typ, value)
	if reason != "" {
		wrong.Add(path, "%s", reason)
	}
	return taken
}

func parentOf(key string) string {
	dot := strings.LastIndexByte(key, '.')
	if dot < 0 {
		return ""
	}
	return key[:dot]
}

// badKey returns why a key cannot be used in a template, or "" if it can.
func badKey(key string) string {
	parts := strings.Split(key, ".")
	switch {
	case key == "":
		return "is required"
	case len(key) > MaxKey:
		return fmt.Sprintf("is longer than %d characters", MaxKey)
	case len(parts) > MaxKeyParts:
		return fmt.Sprintf("has more than %d parts", MaxKeyParts)
	}
	for _, part := range parts {
		if !isKeyPart(part) {
			return "must consist of letters, digits, - and _, beginning with a letter, in parts joined by dots, such as customer.name"
		}
	}
	if root := parts[0]; root == unsubscribeURL || root == "forloop" || root == tickName ||
		slices.Contains(wordsOfTheLanguage, root) {
		return fmt.Sprintf("begins with the reserved word %s", root)
	}
	return ""
}

func isKeyPart(s string) bool {
	for i, r := range s {
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r == '_'
		if !letter && (i == 0 || !('0' <= r && r <= '9') && r != '-') {
			return false
		}
	}
	return s != ""
}

// UndeclaredVariables returns the variables that a part uses but the template does not declare, sorted by name.
func (p *CompiledSource) UndeclaredVariables(declared []shape.Variable) []string {
	var out []string
	for path := range p.findings.paths {
		if !isDeclared(path, declared) {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return out
}

// Variables returns the variables that a part uses, as dotted paths, sorted by name.
func (p *CompiledSource) Variables() []string { return slices.Sorted(maps.Keys(p.findings.paths)) }

// TrustedOutputs returns the outputs of a part that are inserted into html without escaping, by the filter raw.
func (p *CompiledSource) TrustedOutputs() []TrustedOutput { return p.findings.trusted }

// OutputPlace returns where an output is in the source that its author wrote. It reads the whole source.
func (p *CompiledSource) OutputPlace(o TrustedOutput) Place {
	return p.flat.place(o.line, o.Expression)
}

// Place returns where a part first uses a variable.
func (p *CompiledSource) Place(variable string) Place {
	return p.flat.place(p.findings.paths[variable], variable)
}

// UsesVariable reports whether a part uses a variable or one of its fields.
func (p *CompiledSource) UsesVariable(v shape.Variable) bool {
	for path := range p.findings.paths {
		if isDeclared(path, []shape.Variable{v}) {
			return true
		}
	}
	return false
}

// isDeclared reports whether a declaration covers a path. A declared object covers its fields, and a declared
// field of an object covers the object.
func isDeclared(path string, declared []shape.Variable) bool {
	return slices.ContainsFunc(declared, func(v shape.Variable) bool {
		return path == v.Key || strings.HasPrefix(path, v.Key+".") || strings.HasPrefix(v.Key, path+".")
	})
}
