package definition

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/postrider/postrider/runtime/base/fault"
)

// Decode reads a definition and judges it, but for its expressions and its Liquid. The
// fields name everything that is wrong by its path, as steps[2].timeout; none: the
// definition is good. Steps without a key get one.
func Decode(document []byte) (Definition, fault.Fields) {
	wrong := fault.Fields{}
	if len(document) > MaxBytes*4 {
		wrong.Add("definition", "has %d octets; the limit is %d", len(document), MaxBytes)
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
	var d Definition
	if err := json.Unmarshal(document, &d); err != nil {
		wrong.Add("definition", "cannot be read: %s", err)
		return Definition{}, wrong
	}
	d.nameSteps()
	d.tidyBodies(wrong)
	d.judge(wrong)
	if canonical, err := json.Marshal(d); err != nil || len(canonical) > MaxBytes {
		wrong.Add("definition", "has %d octets; the limit is %d", len(canonical), MaxBytes)
	}
	return d, wrong
}

func decodeValue(document []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, errors.New("is not JSON")
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("has something behind the JSON value")
	}
	return value, nil
}

// tidyBodies writes the bodies of requests anew, so that the database takes what decoding made
// of them.
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

// nameSteps gives keys to the steps that have none: <type>_<n>, n the first number that is
// free.
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
