package db

import (
	"database/sql"
	"database/sql/driver"
	"encoding/binary"

	"github.com/lib/pq"
)

// Element is the type of an array element.
type Element interface {
	string | []byte | int64 | int32 | float64 | bool
}

// Array returns a list as a statement argument: text[], bytea[], bigint[], integer[], float8[] or
// boolean[]; nil is the empty array. It works with every entry point. The hot pool sends texts and bytes in
// binary form, so the parameter must be exactly a text[] or a bytea[]; the server converts the other arrays
// to the type of their parameter.
func Array[E Element](list []E) driver.Valuer {
	if list == nil {
		list = []E{} // lib/pq would turn nil into NULL
	}
	switch list := any(list).(type) {
	case []string:
		return array{pq.StringArray(list), binaryArray(list, textType)}
	case [][]byte:
		return array{pq.ByteaArray(list), binaryArray(list, byteaType)}
	default:
		return pq.Array(list)
	}
}

// ScanArray reads an array column into a list.
func ScanArray[E Element](into *[]E) sql.Scanner { return pq.Array(into) }

// array has two forms. The ordinary pool calls Value, which returns text that the server parses. The hot pool
// calls BinaryValue, which the server takes unparsed (lib/pq, CheckNamedValue of a connection with
// binary_parameters). The binary form is built immediately, because the bytes may be in a mapped file, where
// a fault must not occur inside database/sql.
type array struct {
	driver.Valuer

	binary []byte
}

func (a array) BinaryValue() ([]byte, error) { return a.binary, nil }

// Object identifiers of types, the same in every database.
const (
	byteaType = 17
	textType  = 25
)

// binaryArray encodes a list in the format of PostgreSQL's array_recv: dimensions, a flag for nulls, the
// element type, then length and lower bound, then each element with its length.
func binaryArray[E string | []byte](list []E, element int) []byte {
	size := 20
	for _, s := range list {
		size += 4 + len(s)
	}
	b := make([]byte, 0, size)
	word := func(n int) { b = binary.BigEndian.AppendUint32(b, uint32(n)) } // all lengths fit into a message
	if len(list) == 0 {
		word(0)
		word(0)
		word(element)
		return b
	}
	word(1)
	word(0)
	word(element)
	word(len(list))
	word(1)
	for _, s := range list {
		word(len(s))
		b = append(b, s...)
	}
	return b
}
