// Package patroni runs three machines of a PostgreSQL cluster under Patroni and etcd, each of processes of its
// own, from the files of deploy/patroni. What differs between machines is given by their environment, as both
// programs take it. Where root has network namespaces each machine is in one, with a cable to a bridge that can
// be cut; else all are on loopback. Its users kill, freeze, cut off and take away machines.
package patroni
