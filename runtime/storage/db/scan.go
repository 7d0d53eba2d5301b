package db

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"time"
)

// ScanJSON decodes a JSON column into the value that into points to. NULL leaves it unchanged.
func ScanJSON(into any) sql.Scanner { return jsonColumn{into} }

type jsonColumn struct{ into any }

func (c jsonColumn) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		return nil
	case []byte:
		return json.Unmarshal(v, c.into)
	case string:
		return json.Unmarshal([]byte(v), c.into)
	default:
		return fmt.Errorf("cannot scan %T as JSON", src)
	}
}

// ScanMicroseconds reads a number of microseconds. NULL leaves into unchanged.
func ScanMicroseconds(into *time.Duration) sql.Scanner { return microseconds{into} }

type microseconds struct{ into *time.Duration }

func (m microseconds) Scan(src any) error {
	switch n := src.(type) {
	case nil:
	case int64:
		*m.into = time.Duration(n) * time.Microsecond
	default:
		return fmt.Errorf("cannot scan %T as microseconds", src)
	}
	return nil
}
