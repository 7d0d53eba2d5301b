package config

import (
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

// Load is setting.Read after reading the file named in the texts, if any. The error contains the mistakes
// of both.
func Load(mode setting.Mode, machine string, given setting.RawValues) (setting.Values, error) {
	texts := setting.RawValues{}
	maps.Copy(texts, given)
	var wrong setting.Mistakes
	if file := texts[File.Name]; file != "" {
		content, err := os.ReadFile(file)
		if err != nil {
			wrong.Add(File.Name, "cannot be read: %v", err)
		} else {
			wrong = append(wrong, texts.Fill(file, content, File.Name)...)
		}
	}
	values, err := setting.Read(mode, machine, texts)
	var more setting.Mistakes
	if err != nil && !errors.As(err, &more) {
		return setting.Values{}, err
	}
	if err := append(wrong, more...).Err(); err != nil {
		return setting.Values{}, err
	}
	return values, nil
}
