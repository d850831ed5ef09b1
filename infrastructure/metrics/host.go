package metrics

// hostFigures are those of the machine, and of the connections of the node.
func hostFigures() []figure {
	pool, state := []string{"pool"}, []string{"pool", "state"}
	return []figure{
		{
			"ps_host_cpu_usage_ratio", "Processors in use, of the machine or of the control group that bounds the node; 0 to 1.",
			nil,
		},
		{"ps_host_cpu_cores", "Processors of the machine, or as many as the control group may use.", nil},
		{"ps_host_memory_used_bytes", "Memory in use, of the machine or of the control group that bounds the node.", nil},
		{"ps_host_memory_limit_bytes", "Memory of the machine, or as much as the control group may use.", nil},
		{"ps_host_disk_used_bytes", "Used bytes of the disk of the data folder.", nil},
		{"ps_host_disk_size_bytes", "Bytes of the disk of the data folder that a node can use.", nil},
		{"ps_host_load1", "Load of the machine over a minute.", nil},
		{"ps_host_load5", "Load of the machine over five minutes.", nil},
		{"ps_host_load15", "Load of the machine over a quarter of an hour.", nil},
		{"ps_store_connections", "Connections to the store, by pool and state.", state},
		{"ps_store_connections_max", "The most connections to the store, by pool; 0 is no bound.", pool},
		{"ps_store_connection_waits_total", "Statements that waited for a connection, by pool.", pool},
		{"ps_store_connection_wait_seconds_total", "Time that statements waited for a connection, by pool.", pool},
		{"ps_redis_up", "1 while Redis serves, else 0.", nil},
		{"ps_redis_connections", "Connections to Redis, by state.", []string{"state"}},
		{
			"ps_redis_connection_requests_total", "Requests for a connection to Redis: hit, miss (dialled) or timeout.",
			[]string{"result"},
		},
	}
}

func (s Sources) showHost(gauge, count show) {
	u := s.Host.Usage()
	gauge("ps_host_cpu_usage_ratio", u.CPU)
	gauge("ps_host_cpu_cores", u.Cores)
	gauge("ps_host_memory_used_bytes", float64(u.Memory))
	gauge("ps_host_memory_limit_bytes", float64(u.MemoryLimit))
	gauge("ps_host_disk_used_bytes", float64(u.DiskUsed))
	gauge("ps_host_disk_size_bytes", float64(u.DiskSize))
	gauge("ps_host_load1", u.Load1)
	gauge("ps_host_load5", u.Load5)
	gauge("ps_host_load15", u.Load15)
	for name, p := range s.Pools() {
		gauge("ps_store_connections", float64(p.InUse), name, "used")
		gauge("ps_store_connections", float64(p.Idle), name, "idle")
		gauge("ps_store_connections_max", float64(p.MaxOpenConnections), name)
		count("ps_store_connection_waits_total", float64(p.WaitCount), name)
		count("ps_store_connection_wait_seconds_total", p.WaitDuration.Seconds(), name)
	}
	if s.Redis == nil {
		return
	}
	r := s.Redis()
	gauge("ps_redis_up", flag(r.Up))
	gauge("ps_redis_connections", float64(r.Open-min(r.Idle, r.Open)), "used")
	gauge("ps_redis_connections", float64(r.Idle), "idle")
	count("ps_redis_connection_requests_total", float64(r.Hits), "hit")
	count("ps_redis_connection_requests_total", float64(r.Misses), "miss")
	count("ps_redis_connection_requests_total", float64(r.Timeouts), "timeout")
}
