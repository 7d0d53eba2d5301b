// Package patroni runs three machines of a PostgreSQL cluster under Patroni and etcd, each as separate
// processes, with the files of deploy/patroni. The differences between machines are set by their
// environment, which both programs read. If root has network namespaces, each machine runs in one, with a
// cable to a bridge that can be cut; otherwise all run on loopback. Tests kill, freeze, cut off and remove
// machines.
package patroni
