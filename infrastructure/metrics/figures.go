package metrics

import "github.com/prometheus/client_golang/prometheus"

// figure is what is read at each scrape.
type figure struct {
	name, help string
	labels     []string
}

// show sends a value of the figure with a name.
type show func(name string, v float64, labels ...string)

// figures are those that one function reads: gauges, and counts that only grow.
type figures struct {
	descs map[string]*prometheus.Desc
	read  func(gauge, count show)
}

// figures adds what read shows at each scrape.
func (m maker) figures(read func(gauge, count show), all ...figure) {
	f := figures{map[string]*prometheus.Desc{}, read}
	for _, one := range all {
		f.descs[one.name] = prometheus.NewDesc(one.name, one.help, one.labels, nil)
	}
	m.MustRegister(f)
}

// Describe implements prometheus.Collector.
func (f figures) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range f.descs {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (f figures) Collect(ch chan<- prometheus.Metric) {
	as := func(t prometheus.ValueType) show {
		return func(name string, v float64, labels ...string) {
			ch <- prometheus.MustNewConstMetric(f.descs[name], t, v, labels...)
		}
	}
	f.read(as(prometheus.GaugeValue), as(prometheus.CounterValue))
}

// flag is 1 for what holds.
func flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
