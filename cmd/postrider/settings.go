package main

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/ops/config"
)

// settingFlags are the flags of settings in a command. The tag settings lists the variables that the command
// reads, separated by commas; "tool" means toolVariables. Without the tag, the command reads all settings.
type settingFlags struct{ kong.Plugins }

// toolVariables are the settings of commands that use the database and exit.
var toolVariables = []string{config.File.Name, config.DatabaseURL.Name,
	config.DatabasePassword.Name, config.DataDir.Name, config.PostgresBin.Name,
	config.PostgresFallback.Name,
	config.RiskLosingAcceptedMail.Name, config.Connections.Name, config.Standbys.Name, config.LogFormat.Name,
	config.LogLevel.Name}

// onOff is the type of a flag that needs no value. It stores the text, so that an invalid value is reported together
// with all other problems.
type onOff string

var (
	flagsType = reflect.TypeFor[settingFlags]()
	onOffType = reflect.TypeFor[onOff]()
)

// addSettings adds the flags of their settings to the commands below v. Kong reads flags from the fields of a
// struct, so the settings of a command become the fields of a struct type that is created for it.
func addSettings(v reflect.Value, all []setting.Info) {
	for i := range v.NumField() {
		field, tag := v.Field(i), v.Type().Field(i).Tag
		switch {
		case field.Type() == flagsType:
			fields := reflect.New(reflect.StructOf(fieldsOf(tag.Get("settings"), all)))
			field.Field(0).Set(reflect.ValueOf(kong.Plugins{fields.Interface()}))
		case field.Kind() == reflect.Struct:
			addSettings(field, all)
		}
	}
}

// fieldsOf describes the flags of the listed settings to kong. A secret also has a flag with the path of a file.
func fieldsOf(listed string, all []setting.Info) []reflect.StructField {
	var names []string
	for _, name := range setting.List(listed) {
		if name == "tool" {
			names = append(names, toolVariables...)
			continue
		}
		names = append(names, name)
	}
	var fields []reflect.StructField
	for _, s := range all {
		if len(names) > 0 && !slices.Contains(names, s.Name) {
			continue
		}
		if s.File != "" {
			fields = append(fields, reflect.StructField{Name: "Setting" + strconv.Itoa(len(fields)),
				Type: reflect.TypeFor[string](), Tag: reflect.StructTag(fmt.Sprintf(
					`setting:%q name:%q env:%q group:%q help:"File that contains --%s." hidden:"" placeholder:"FILE"`,
					s.File, s.Flag+"-file", s.File, s.Group, s.Flag))})
		}
		field := reflect.StructField{Name: "Setting" + strconv.Itoa(len(fields)), Type: reflect.TypeFor[string]()}
		if s.Switch {
			field.Type = onOffType
		}
		variables := s.Name
		if s.Also != "" {
			variables += "," + s.Also
		}
		field.Tag = reflect.StructTag(fmt.Sprintf("setting:%q name:%q env:%q group:%q help:%s placeholder:%q", s.Name,
			s.Flag, variables, s.Group,
			strconv.Quote(helpOf(s)), s.Placeholder))
		fields = append(fields, field)
	}
	return fields
}

// helpOf returns the description of a setting with its default and bounds.
func helpOf(s setting.Info) string {
	if s.Switch {
		return s.Help
	}
	more := s.Default
	if s.Takes != "" {
		more += "; " + s.Takes
	}
	return strings.TrimSuffix(s.Help, ".") + " (" + more + ")."
}

// settingTexts returns the settings from flags and the environment.
func (f settingFlags) settingTexts() setting.RawValues {
	texts := setting.RawValues{}
	for _, plugin := range f.Plugins {
		fields := reflect.ValueOf(plugin).Elem()
		for i := range fields.NumField() {
			if text := fields.Field(i).String(); text != "" {
				texts[fields.Type().Field(i).Tag.Get("setting")] = text
			}
		}
	}
	return texts
}

// load resolves the settings of a command that uses the database and exits.
func (f settingFlags) load() (setting.Values, error) {
	return config.Load(setting.Tool, "", f.settingTexts())
}

// onOffMapper parses a flag that needs no value.
type onOffMapper struct{}

var _ kong.BoolMapper = onOffMapper{}

func (onOffMapper) IsBool() bool { return true }

func (onOffMapper) Decode(ctx *kong.DecodeContext, target reflect.Value) error {
	if ctx.Scan.Peek().Type != kong.FlagValueToken { // --flag without =value
		target.SetString("true")
		return nil
	}
	target.SetString(fmt.Sprint(ctx.Scan.Pop().Value))
	return nil
}
