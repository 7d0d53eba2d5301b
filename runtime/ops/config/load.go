package config

import (
	"bytes"
	"errors"
	"maps"
	"os"

	"github.com/postrider/postrider/runtime/base/setting"
)

// File is the path of a file with settings.
var File = setting.Declare(setting.Setting[string]{
	Name: "POSTRIDER_CONFIG", Group: database, Form: setting.Text("FILE"),
	Help: "YAML file with settings. Flags and environment override it.",
})

// Load is setting.Read after reading the file named in the texts, if any, and the files that contain secrets.
// The error contains the mistakes of all.
func Load(mode setting.Mode, machine string, given setting.RawValues) (setting.Values, error) {
	texts := setting.RawValues{}
	maps.Copy(texts, given)
	wrong := readSecretFiles(texts)
	if file := texts[File.Name]; file != "" {
		wrong = append(wrong, readSettingsFile(file, texts)...)
	}
	values, err := setting.Read(mode, machine, texts)
	var more setting.Mistakes
	if err != nil && !errors.As(err, &more) {
		return setting.Values{}, err
	}
	if err := append(wrong, more...).Err(); err != nil {
		return setting.Values{}, err
	}
	return addPassword(values), nil
}

// readSettingsFile adds the settings of a file, and the secrets in the files that it names. Flags and environment
// override them.
func readSettingsFile(file string, texts setting.RawValues) setting.Mistakes {
	var wrong setting.Mistakes
	content, err := os.ReadFile(file)
	if err != nil {
		wrong.Add(File.Name, "cannot be read: %v", err)
		return wrong
	}
	inFile := setting.RawValues{}
	wrong = append(wrong, inFile.Fill(file, content, File.Name)...)
	for _, s := range setting.All() {
		if s.File != "" && texts[s.Name] != "" {
			delete(inFile, s.File)
		}
	}
	wrong = append(wrong, readSecretFiles(inFile)...)
	for name, text := range inFile {
		if texts[name] == "" {
			texts[name] = text
		}
	}
	return wrong
}

// readSecretFiles replaces the path of each file with the secret that it contains.
func readSecretFiles(texts setting.RawValues) setting.Mistakes {
	var wrong setting.Mistakes
	for _, s := range setting.All() {
		file := texts[s.File]
		if s.File == "" || file == "" {
			continue
		}
		delete(texts, s.File)
		if texts[s.Name] != "" {
			wrong.Add(s.File, "cannot be combined with %s", s.Name)
			continue
		}
		content, err := os.ReadFile(file)
		switch content = bytes.TrimRight(content, "\r\n"); {
		case err != nil:
			wrong.Add(s.File, "cannot be read: %v", err)
		case len(content) == 0:
			wrong.Add(s.File, "names an empty file: %s", file)
		default:
			texts[s.Name] = string(content)
		}
	}
	return wrong
}
