// Package check validates the files of deploy/ with the libraries that read them: the Helm chart
// with Helm's engine and the Kubernetes types, the Compose file with the Compose library. It has
// large dependencies, so it is a separate module. make check-deploy runs it.
package check
