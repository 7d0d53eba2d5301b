package steps

import (
	"testing"

	"github.com/postrider/postrider/runtime/base/fault"
)

// The first field in order decides about the code of an email with several mistakes.
func TestCodeDoesNotDependOnMapOrder(t *testing.T) {
	t.Parallel()
	for want, fields := range map[string]fault.Fields{
		"template_missing":   {"template": "does not exist", "template.variables.name": "is required", "to": "is required"},
		"template_variables": {"template.variables.name": "is required", "to[0]": "is not an address"},
		"template_locale":    {"template.locale": "must be a language", "to": "is required"},
		"invalid_recipient":  {"bcc[1]": "is not an address", "template": "must be published first"},
	} {
		for range 30 {
			if got := codeOf(&fault.Error{Code: fault.CodeValidation, Fields: fields}); got != want {
				t.Errorf("the code of %v is %s, want %s", fields, got, want)
				break
			}
		}
	}
}
