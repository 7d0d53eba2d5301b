// Package config turns settings into configuration.
//
// Settings are texts, as somebody gave them: a flag, else an environment
// variable, else a key of a YAML file. An empty text counts as not given. The
// name of the flag is also the key in the file, with _ for -.
//
// Config is what the program runs on: typed, checked, with the defaults of the
// mode filled in. Resolve makes one of the other and does nothing else: it reads
// no file and no environment, and it reports every mistake at once, by the name
// of the setting. Whether the things named exist (folders, servers, modules)
// comes out later, when they are used.
//
// Secrets do not show: not in mistakes, not when a Config is logged.
package config
