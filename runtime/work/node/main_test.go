package node_test

import (
	"flag"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil { // the tests mostly wait until a silence counts
		panic(err)
	}
	os.Exit(m.Run())
}
