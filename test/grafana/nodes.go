package main

const onNode = `{instance=~"$instance"}`

// nodes are the machines and the processes.
func nodes() Dashboard {
	each := func(expr string) q { return q{expr, "{{instance}}"} }
	return dashboard("ps-node", "nodes", "The machines or control groups that nodes run on, and their connections.",
		[]Variable{instances()},
		table("Nodes", "short", "What runs where.", lineWidth,
			`max by (instance, version, goversion) (ps_build_info`+onNode+`)`),
		row("Machine, or the control group that bounds the node"),
		graph("Processors", "percentunit", "Share of those that the node may use.", each(`ps_host_cpu_usage_ratio`+onNode)),
		graph("Memory", "percentunit", "Share of what the node may use.",
			each(`ps_host_memory_used_bytes`+onNode+` / (ps_host_memory_limit_bytes`+onNode+` > 0)`)),
		graph("Disk", "percentunit", "Used part of the disk of the data folder.",
			each(`ps_host_disk_used_bytes`+onNode+` / ps_host_disk_size_bytes`+onNode)),
		graph("Load", "short", "Processes that run or wait, for each processor.",
			each(`ps_host_load1`+onNode+` / (ps_host_cpu_cores`+onNode+` > 0)`)),
		graph("Processor time of the process", "short", "Processors that the node itself uses.",
			each(perSecond("process_cpu_seconds_total", onNode, "instance"))),
		graph("Memory of the process", "bytes", "Resident, and the heap of Go.",
			q{`process_resident_memory_bytes` + onNode, "{{instance}} resident"},
			q{`go_memstats_heap_inuse_bytes` + onNode, "{{instance}} heap"}),
		row("Slots"),
		graph("General slots in use", "percentunit", "0 where a node runs nothing.",
			each(`ps_running`+onNode+` / (ps_slots`+onNode+` > 0)`)),
		graph("Commands", "short", "Commands that run, and their slots.",
			q{`ps_command_running` + onNode, "{{instance}} running"}, q{`ps_command_slots` + onNode, "{{instance}} slots"}),
		graph("Partitions", "short", "Partitions that a node scans.", each(`ps_partitions`+onNode)),
		row("Process"),
		graph("Goroutines", "short", "", each(`go_goroutines`+onNode)),
		graph("Open files", "percentunit", "Share of those that the process may open.",
			each(`process_open_fds`+onNode+` / process_max_fds`+onNode)),
		graph("Pauses of the collector", "percentunit", "Share of the time that Go's collector stopped the process.",
			each(perSecond("go_gc_duration_seconds_sum", onNode, "instance"))),
		row("Clock and membership"),
		signed(graph("Clock", "s", "How far the clock of the store is ahead.", each(`ps_clock_offset_seconds`+onNode))),
		graph("Beats", "s", "Time of a beat, 99 of 100.",
			each(buckets(0.99, "ps_beat_duration_seconds", onNode, "instance"))),
		graph("Isolation of commands", "short", "1 where a node runs commands: who runs them, and what bounds them.",
			q{`max by (instance, user, ending) (ps_command_isolation_info` + onNode + `)`, "{{instance}} {{user}} {{ending}}"}),
	)
}
