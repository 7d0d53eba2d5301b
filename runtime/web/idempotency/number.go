package idempotency

import (
	"bytes"
	"strconv"
)

// maxPlainExponent limits the zeros that are written for an exponent.
const maxPlainExponent = 40

// appendNumber appends the canonical form of a JSON number: without an exponent if that is short, and without
// insignificant zeros. It does not round.
func appendNumber(out, number []byte) []byte {
	if !bytes.ContainsAny(number, ".eE") && string(number) != "-0" {
		return append(out, number...)
	}
	digits, exponent, ok := splitNumber(number)
	switch {
	case !ok:
		return append(out, number...)
	case len(digits) == 0:
		return append(out, '0')
	}
	if number[0] == '-' {
		out = append(out, '-')
	}
	point := len(digits) + exponent // the position of the decimal point
	switch {
	case exponent >= 0 && exponent <= maxPlainExponent:
		out = append(out, digits...)
		return append(out, zeros[:exponent]...)
	case exponent < 0 && point > 0:
		out = append(append(out, digits[:point]...), '.')
		return append(out, digits[point:]...)
	case exponent < 0 && -point <= maxPlainExponent:
		out = append(append(out, "0."...), zeros[:-point]...)
		return append(out, digits...)
	default:
		out = append(append(out, digits...), 'e')
		return strconv.AppendInt(out, int64(exponent), 10)
	}
}

var zeros = bytes.Repeat([]byte{'0'}, maxPlainExponent)

// splitNumber returns the significant digits of a number, and the power of ten by which they are multiplied.
// It reports false if the exponent is too large to compute with.
func splitNumber(number []byte) (digits []byte, exponent int, ok bool) {
	mantissa := bytes.TrimPrefix(number, []byte{'-'})
	if at := bytes.IndexAny(mantissa, "eE"); at >= 0 {
		n, err := strconv.ParseInt(string(mantissa[at+1:]), 10, 32)
		if err != nil {
			return nil, 0, false
		}
		mantissa, exponent = mantissa[:at], int(n)
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte{'.'})
	exponent -= len(fraction)
	digits = append(append(make([]byte, 0, len(mantissa)), whole...), fraction...)
	digits = bytes.TrimLeft(digits, "0")
	trimmed := bytes.TrimRight(digits, "0")
	return trimmed, exponent + len(digits) - len(trimmed), true
}
