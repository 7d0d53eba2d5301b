// Package templatefiles implements `postrider templates push` and `pull`. It keeps templates in files, so that they
// can be reviewed and built in a repository: NAME.html with the HTML, for example from React Email or MJML, and
// NAME.txt with the text. Either can be missing. NAME.pt-BR.html and NAME.pt-BR.txt are a translation. The other
// fields are YAML, in NAME.yaml or between lines of --- at the start of one of the files. Templates are matched by
// alias, which is NAME unless the YAML sets another one.
//
// Files in a folder layouts or partials, at any depth, are layouts and partials. They are pushed, and published, before
// the templates that use them.
package templatefiles
