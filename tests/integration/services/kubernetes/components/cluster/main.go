// Kubernetes in one program: the first argument is the component to run, the others are its own.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

var components = map[string]func() *cobra.Command{
	"kube-apiserver":          apiserver.NewAPIServerCommand,
	"kube-controller-manager": controllers.NewControllerManagerCommand,
	"kube-proxy":              proxy.NewProxyCommand,
	"kube-scheduler":          func() *cobra.Command { return scheduler.NewSchedulerCommand() },
	"kubectl":                 kubectl.NewDefaultKubectlCommand,
	"kubelet":                 kubelet.NewKubeletCommand,
}

func main() {
	os.Args = os.Args[1:]
	if len(os.Args) > 0 && os.Args[0] == "etcd" {
		etcdmain.Main(os.Args)
		return
	}
	if len(os.Args) == 0 || components[os.Args[0]] == nil {
		fmt.Fprintln(os.Stderr, "the first argument is no component of Kubernetes")
		os.Exit(2)
	}
	os.Exit(cli.Run(components[os.Args[0]]()))
}
