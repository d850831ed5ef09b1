# Which tests wait for real processes, leases and brokers: `prove` runs them, `gotest` does not.
# shellcheck shell=bash disable=SC2034 # sourced by both

# Folders whose tests all belong to a step of `prove`. Each is named in that script.
LONG_PACKAGES='cmd/bench cmd/makerbench test/commands test/crash test/degrade test/deploy test/e2e test/examples test/fault
  test/grafana test/kafka test/night test/prometheus test/restore'

# What `gotest` runs without the race detector: it takes most of the time of a simulation, and finds nothing in virtual
# time that others do not; the model of delivery is one goroutine, and goes two steps deeper without; so are the
# decisions about workflows; the last package reads sources and runs nothing of the product.
PLAIN_PACKAGES='test/simulate sdk/worker/internal/model test/workflow test/architecture'

# Tests of cmd/app that start several engines on one server and wait for their leases, or for the grace of
# a stop. `prove cluster` runs them, and `gotest` the others of that package. Words are those of `-run`.
CLUSTER_TESTS='^(TestThreeNodesMoveToAPromotedReplica|TestAnyNodeAnswersForTheRunsOfAnother|TestACopyOfALiveStoreDisturbsNobody|TestAnEditOnOneNodeIsTrueOnTheOthers|TestTheLeadOutlivesAnOutageOfTheStore|TestWhetherAnIDIsTakenIsToldByTheBeats|TestThreeNodesRouteTheirRuns|TestARunWaitsForANodeThatJoins|TestAGateThatStaysShutStopsNoTask|TestOneNodeDoesTheTasksOfTheLeader|TestTheNextLeaderGoesOnWithAlerts|TestAClusterOfDifferentHandlers|TestWhoStandsForElection|TestThreeNodesShareTheWorkAndSurviveOne|TestALeaderThatIsCutOffIsReplaced|TestAStopCutsOffWhoStaysConnected)$'

# Tests of api and of redact that bound the processor's time for hostile texts. `prove costs` runs them at full
# length; the race detector allows a fraction of it.
COST_TESTS='^(TestABodyCostsItsLengthAlone|TestADocumentInYAMLCostsItsLengthAlone|TestTheMaskCostsWhatTheTextIsLong)$'

# The tests of test/e2e that are quick and hold a contract: bad input, the parity of routes and
# commands, and one short path over the real binary. `gotest` runs them, and `prove e2e` the others.
QUICK_E2E='^(TestBadInputOnEveryStore|TestOddInputGetsTheSameAnswerOnEveryStore|TestNothingIsOpenWithoutSigningIn|TestEveryCommandPrintsItsAnswerAndEveryRouteHasACommand|TestATriggerWithAKeyRunsOnceAndItsLogCanBeRead|TestAlertSettingsLiveInFiles)$'
