package main

import (
	"fmt"
	"reflect"

	"github.com/alecthomas/kong"

	"github.com/postrider/postrider/runtime/config"
)

var switchType = reflect.TypeFor[config.Switch]()

// switchMapper reads on/off settings as text, so that a bad value is reported
// together with everything else that is wrong.
type switchMapper struct{}

var _ kong.BoolMapper = switchMapper{}

func (switchMapper) IsBool() bool { return true }

func (switchMapper) Decode(ctx *kong.DecodeContext, target reflect.Value) error {
	if ctx.Scan.Peek().Type != kong.FlagValueToken { // --flag without =value
		target.SetString("true")
		return nil
	}
	target.SetString(fmt.Sprint(ctx.Scan.Pop().Value))
	return nil
}
