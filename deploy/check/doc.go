// Package check judges the files of deploy/ by what reads them: the Helm chart by Helm's own
// engine and the types of Kubernetes, the compose file by the library of Compose. Its
// requirements are large, so it is a module of its own, run by make check-deploy.
package check
