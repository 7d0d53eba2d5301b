package expression_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/postrider/postrider/modules/automations/expression"
)

func TestKeepsOrRejectsNumbers(t *testing.T) {
	t.Parallel()
	for number, kept := range map[string]bool{
		"0": true, "-0": true, "0.0": true, "1": true, "1.10": true, "-2.5e-3": true, "0.1": true, "1e20": true, "1E308": true,
		"9223372036854775807": true, "-9223372036854775808": true, "9223372036854775808": false, "18446744073709551615": false,
		"9007199254740993": true, "9007199254740993.0": false, "100000000000000000000": true, "0.30000000000000004": true,
		"0.10000000000000001": true, "1e400": false, "-1e400": false, "1e-400": false, "5e-324": true, "1.234567890123456e-320": false,
		"123456789012345678901234567890": false, "0.1234567890123456789": false, "12345678.00000000000000000": true,
	} {
		_, err := expression.DecodeExact([]byte(`{"a": {"list": ["x", ` + number + `]}}`))
		var inexact *expression.NumberError
		if kept != (err == nil) || err != nil && !errors.As(err, &inexact) {
			t.Errorf("%s returned %v, want it kept: %t", number, err, kept)
		}
		if err != nil && !strings.Contains(err.Error(), "a.list[1]") {
			t.Errorf("%s: the error %q does not name a.list[1]", number, err)
		}
	}
}
