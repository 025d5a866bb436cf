{{- define "ascend-gateway.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- /* Two releases in one namespace must not meet; 50 characters leave room for suffixes. */ -}}
{{- define "ascend-gateway.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- $name := include "ascend-gateway.name" . -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "ascend-gateway.selectorLabels" -}}
app.kubernetes.io/name: {{ include "ascend-gateway.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: gateway
{{- end -}}

{{- define "ascend-gateway.redisSelectorLabels" -}}
app.kubernetes.io/name: {{ include "ascend-gateway.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: store
{{- end -}}

{{- define "ascend-gateway.chartLabels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "ascend-gateway.labels" -}}
{{ include "ascend-gateway.selectorLabels" . }}
{{ include "ascend-gateway.chartLabels" . }}
{{- end -}}

{{- define "ascend-gateway.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- define "ascend-gateway.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "ascend-gateway.fullname" .) -}}
{{- else -}}
{{- .Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end -}}

{{- define "ascend-gateway.routingConfigMap" -}}
{{- .Values.existingRoutingConfigMap | default (printf "%s-routing" (include "ascend-gateway.fullname" .)) -}}
{{- end -}}

{{- /* "true" if keys of the values go into a Secret of the chart. */ -}}
{{- define "ascend-gateway.ownKeys" -}}
{{- if or .Values.auth.clientKeys .Values.auth.adminKeys -}}true{{- end -}}
{{- end -}}

{{- define "ascend-gateway.hasClientKeys" -}}
{{- if include "ascend-gateway.ownKeys" . -}}
{{- if .Values.auth.clientKeys -}}true{{- end -}}
{{- else if and .Values.auth.existingSecret (not .Values.auth.allowOpen) -}}true{{- end -}}
{{- end -}}

{{- define "ascend-gateway.hasAdminKeys" -}}
{{- if include "ascend-gateway.ownKeys" . -}}
{{- if .Values.auth.adminKeys -}}true{{- end -}}
{{- else if and .Values.auth.existingSecret .Values.auth.existingSecretHasAdminKeys -}}true{{- end -}}
{{- end -}}

{{- define "ascend-gateway.keysSecret" -}}
{{- if include "ascend-gateway.ownKeys" . -}}
{{ include "ascend-gateway.fullname" . }}-keys
{{- else -}}
{{ .Values.auth.existingSecret }}
{{- end -}}
{{- end -}}

{{- define "ascend-gateway.redisName" -}}
{{ include "ascend-gateway.fullname" . }}-redis
{{- end -}}

{{- define "ascend-gateway.redisSecret" -}}
{{- if .Values.redis.auth.password -}}
{{ include "ascend-gateway.redisName" . }}
{{- else -}}
{{ required "redis.enabled needs redis.auth.existingSecret or redis.auth.password" .Values.redis.auth.existingSecret }}
{{- end -}}
{{- end -}}

{{- /* What can't work is refused here, with what to do. */ -}}
{{- define "ascend-gateway.check" -}}
{{- if and .Values.redis.enabled (or .Values.store.url .Values.store.existingSecret) -}}
{{- fail "redis.enabled and store.* are both set; keep one: the chart's own Redis, or yours" -}}
{{- end -}}
{{- if not (or (include "ascend-gateway.hasClientKeys" .) .Values.auth.allowOpen) -}}
{{- fail "no client keys: set auth.existingSecret (or auth.clientKeys to try it out), or say auth.allowOpen: true" -}}
{{- end -}}
{{- if and (gt (int .Values.workers) 1) (not (or .Values.redis.enabled .Values.store.url .Values.store.existingSecret)) -}}
{{- fail "workers above 1 need a store: set redis.enabled, store.url or store.existingSecret" -}}
{{- end -}}
{{- $several := or .Values.autoscaling.enabled (gt (int .Values.replicaCount) 1) -}}
{{- $state := .Values.state.persistence -}}
{{- if and $several $state.enabled (not $state.existingClaim) (not (has "ReadWriteMany" $state.accessModes)) -}}
{{- fail "several gateways can't share a state volume without ReadWriteMany; change state.persistence.accessModes, or switch state.persistence off" -}}
{{- end -}}
{{- if and .Values.autoscaling.enabled (gt (int .Values.autoscaling.minReplicas) (int .Values.autoscaling.maxReplicas)) -}}
{{- fail "autoscaling.minReplicas is above autoscaling.maxReplicas" -}}
{{- end -}}
{{- range $name, $value := .Values.settings -}}
{{- if has $name (list "config_file" "host" "port" "state_dir" "client_keys" "client_keys_file" "admin_keys" "admin_keys_file" "allow_open" "drain_s" "drain_grace_s" "store_url" "store_namespace" "workers") -}}
{{- fail (printf "settings.%s is set by a value of its own in this chart; see values.yaml" $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
