package definition

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/postrider/postrider/runtime/base/fault"
)

// Decode parses and validates a definition, except for its expressions and its Liquid. The returned fields name
// every error by its path, such as steps[2].timeout; they are empty for a valid definition. Decode assigns keys
// to steps that have none.
func Decode(document []byte) (Definition, fault.Fields) {
	wrong := fault.Fields{}
	if len(document) > MaxBytes*4 {
		wrong.Add("definition", "has %d bytes; the limit is %d", len(document), MaxBytes)
		return Definition{}, wrong
	}
	value, err := decodeValue(document)
	if err != nil {
		wrong.Add("definition", "%s", err)
		return Definition{}, wrong
	}
	definitionForm().judge("", value, wrong)
	if len(wrong) > 0 {
		return Definition{}, wrong
	}
	if document, err = json.Marshal(value); err != nil { // without blank members
		wrong.Add("definition", "is invalid: %s", err)
		return Definition{}, wrong
	}
	var d Definition
	if err := json.Unmarshal(document, &d); err != nil {
		wrong.Add("definition", "is invalid: %s", err)
		return Definition{}, wrong
	}
	d.nameSteps()
	d.tidyBodies(wrong)
	d.validateParts(wrong)
	if canonical, err := json.Marshal(d); err != nil || len(canonical) > MaxBytes {
		wrong.Add("definition", "has %d bytes; the limit is %d", len(canonical), MaxBytes)
	}
	return d, wrong
}

func decodeValue(document []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, errors.New("must be JSON")
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("cannot contain data after the JSON value")
	}
	return value, nil
}

// tidyBodies re-encodes request bodies, because the database rejects some JSON that decoding repairs.
func (d *Definition) tidyBodies(wrong fault.Fields) {
	for i := range d.Steps {
		step := &d.Steps[i]
		if len(step.Body) == 0 {
			continue
		}
		value, err := decodeValue(step.Body)
		if err == nil {
			step.Body, err = json.Marshal(value)
		}
		if err != nil {
			wrong.Add(fmt.Sprintf("steps[%d].body", i), "%s", err)
		}
	}
}

// nameSteps assigns keys to steps without one: <type>_<n>, where n is the first free number.
func (d *Definition) nameSteps() {
	taken := map[string]bool{}
	for i := range d.Steps {
		taken[d.Steps[i].Key] = true
	}
	for i := range d.Steps {
		step := &d.Steps[i]
		for n := 1; step.Key == ""; n++ {
			if key := fmt.Sprintf("%s_%d", step.Type, n); !taken[key] {
				step.Key, taken[key] = key, true
			}
		}
	}
}
