// The types of the dashboards: those of @grafana/schema, each kind of panel with its own options. An unknown field, or
// one of the wrong type, does not compile.
import type {
  Dashboard, DataQuery, DataSourceRef, FieldConfig, GraphFieldConfig, Panel, RowPanel, VariableModel,
} from '@grafana/schema';
import type {
  Options as StatOptions,
} from '@grafana/schema/dist/esm/raw/composable/stat/panelcfg/x/StatPanelCfg_types.gen';
import type {
  Options as TableOptions,
} from '@grafana/schema/dist/esm/raw/composable/table/panelcfg/x/TablePanelCfg_types.gen';
import type {
  Options as TimeSeriesOptions,
} from '@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen';

// JSON has texts where the schema has enumerations of texts.
type Plain<T> = T extends string ? `${T}`
  : T extends (infer E)[] ? Plain<E>[]
  : T extends object ? { [K in keyof T]: Plain<T[K]> }
  : T;

// @grafana/schema leaves the queries of Prometheus to its plugin; these are the fields used here.
interface PrometheusQuery extends Omit<DataQuery, 'datasource'> {
  datasource: DataSourceRef;
  expr: string;
  legendFormat?: string;
  instant: boolean;
  range: boolean;
  format?: 'table' | 'time_series' | 'heatmap';
  exemplar?: boolean;
}

interface Fields<C> {
  defaults: Omit<Plain<FieldConfig>, 'custom'> & { custom?: C };
  overrides: never[];
}

type Of<Kind extends string, O, C> = Omit<Plain<Panel>, 'type' | 'options' | 'targets' | 'fieldConfig'> & {
  type: Kind;
  title: string;
  options: Plain<O>;
  targets: PrometheusQuery[];
  fieldConfig: Fields<C>;
};

type AnyPanel =
  | Of<'timeseries', TimeSeriesOptions, Plain<GraphFieldConfig>>
  | Of<'stat', StatOptions, never>
  | Of<'table', TableOptions, never>
  | (Omit<Plain<RowPanel>, 'panels'> & { panels: never[] });

export type Checked = Omit<Plain<Dashboard>, 'panels' | 'templating'> & {
  uid: string;
  title: string;
  panels: AnyPanel[];
  templating: { list: Plain<VariableModel>[] };
};
