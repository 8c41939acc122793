package main

import (
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/service/telemetry/otelconftelemetry"
)

func init() {
	addTelemetry = func(all *otelcol.Factories) { all.Telemetry = otelconftelemetry.NewFactory() }
}
