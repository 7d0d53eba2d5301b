package db

import (
	"database/sql"
	"database/sql/driver"
	"encoding/binary"

	"github.com/lib/pq"
)

// Element is what an array can hold.
type Element interface {
	string | []byte | int64 | int32 | float64 | bool
}

// Array makes an argument of a list: text[], bytea[], bigint[], integer[], float8[] or
// boolean[]; nil is the empty array. It is good for every door. The hot pool sends texts
// and octets as they are, so the parameter must be a text[] or a bytea[] and nothing else;
// the server converts the other arrays to what their parameter is.
func Array[E Element](list []E) driver.Valuer {
	if list == nil {
		list = []E{} // of nil, lib/pq makes NULL
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

// array has two forms. The ordinary pool asks for Value, which quotes here what the server
// parses there. The hot pool asks for BinaryValue, which the server takes as it is (lib/pq,
// CheckNamedValue of a connection with binary_parameters). It is made at once: octets may
// lie in a mapped file, whose fault must not come up within database/sql.
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

// binaryArray lays a list out as array_recv of PostgreSQL reads it: dimensions, a flag
// for nulls, the type of the elements, then length and lower bound, then each element
// with its length.
func binaryArray[E string | []byte](list []E, element int) []byte {
	size := 20
	for _, s := range list {
		size += 4 + len(s)
	}
	b := make([]byte, 0, size)
	word := func(n int) { b = binary.BigEndian.AppendUint32(b, uint32(n)) } // lengths of what fits a message
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
