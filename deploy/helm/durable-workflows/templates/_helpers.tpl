{{- define "workflows.fullname" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "workflows.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "workflows.labels" -}}
{{ include "workflows.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "workflows.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}

{{- define "workflows.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (.Values.serviceAccount.create | ternary (include "workflows.fullname" .) "default") -}}
{{- end -}}

{{/* The settings that the chart gives, and those of `settings`. Fails where they contradict each other. */}}
{{- define "workflows.settings" -}}
{{- $given := dict
  "AUTH_MODE" "required"
  "PUBLIC_URL" .Values.publicUrl
  "TEMPORAL_ADDRESS" .Values.temporal.address
  "TEMPORAL_NAMESPACE" .Values.temporal.namespace
  "METRICS_ALLOW" .Values.metrics.allow
-}}
{{- with .Values.temporal.uiUrl }}{{- $_ := set $given "TEMPORAL_UI_URL" . }}{{- end -}}
{{- if .Values.temporal.tls.existingSecret -}}
{{- $_ := set $given "TEMPORAL_TLS" "true" -}}
{{- $_ := set $given "TEMPORAL_TLS_CLIENT_CERT_PATH" "/etc/temporal-tls/tls.crt" -}}
{{- $_ := set $given "TEMPORAL_TLS_CLIENT_KEY_PATH" "/etc/temporal-tls/tls.key" -}}
{{- if .Values.temporal.tls.ca }}{{- $_ := set $given "TEMPORAL_TLS_SERVER_CA_CERT_PATH" "/etc/temporal-tls/ca.crt" }}{{- end -}}
{{- end -}}
{{- with .Values.temporal.tls.serverName }}{{- $_ := set $given "TEMPORAL_TLS_SERVER_NAME" . }}{{- end -}}
{{- $credentials := merge (dict) .Values.secretKeys.required .Values.secretKeys.optional -}}
{{- $fixed := list "API_HOST" "API_PORT" "DATA_DIR" "SEED" "NODE_ENV" "WORKFLOW_BUNDLE" "WORKER_METRICS_HOST" "WORKER_METRICS_PORT" "CONFIG_FILE" -}}
{{- range $name, $_ := .Values.settings -}}
{{- if or (hasKey $credentials $name) (regexMatch "(_KEY|PASSWORD|_FILE)$" $name) }}{{- fail (printf "settings.%s is a credential: put it into existingSecret" $name) }}{{- end -}}
{{- if or (hasKey $given $name) (has $name $fixed) }}{{- fail (printf "settings.%s is set by the chart" $name) }}{{- end -}}
{{- end -}}
{{- toYaml (merge (dict) .Values.settings $given) -}}
{{- end -}}

{{- define "workflows.credentials" -}}
{{- range $name, $key := .Values.secretKeys.required }}
- name: {{ $name }}
  valueFrom: {secretKeyRef: {name: {{ $.Values.existingSecret }}, key: {{ $key }}}}
{{- end }}
{{- range $name, $key := .Values.secretKeys.optional }}
- name: {{ $name }}
  valueFrom: {secretKeyRef: {name: {{ $.Values.existingSecret }}, key: {{ $key }}, optional: true}}
{{- end }}
{{- end -}}

{{/* What the pods of the API and the workers share. `.part` is one of the two. */}}
{{- define "workflows.pod" -}}
{{- $part := index .root.Values .part -}}
serviceAccountName: {{ include "workflows.serviceAccount" .root }}
automountServiceAccountToken: false
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
securityContext: {{ toYaml .root.Values.podSecurityContext | nindent 2 }}
{{- with $part.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with $part.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with $part.affinity }}
affinity: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with $part.topologySpreadConstraints }}
topologySpreadConstraints: {{ toYaml . | nindent 2 }}
{{- else }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{ include "workflows.selector" .root | nindent 8 }}
        app.kubernetes.io/component: {{ .part }}
{{- end }}
volumes:
  - name: settings
    configMap: {name: {{ include "workflows.fullname" .root }}}
  - name: tmp
    emptyDir: {}
  {{- with .root.Values.temporal.tls.existingSecret }}
  - name: temporal-tls
    secret: {secretName: {{ . }}, defaultMode: 0440}
  {{- end }}
{{- end -}}

{{- define "workflows.container" -}}
{{- $part := index .root.Values .part -}}
image: {{ include "workflows.image" .root }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
args: [{{ .part }}]
securityContext: {{ toYaml .root.Values.containerSecurityContext | nindent 2 }}
resources: {{ toYaml $part.resources | nindent 2 }}
volumeMounts:
  - {name: settings, mountPath: /etc/durable-workflows, readOnly: true}
  - {name: tmp, mountPath: /tmp}
  {{- if .root.Values.temporal.tls.existingSecret }}
  - {name: temporal-tls, mountPath: /etc/temporal-tls, readOnly: true}
  {{- end }}
env:
  - {name: CONFIG_FILE, value: /etc/durable-workflows/settings.yaml}
  {{- include "workflows.credentials" .root | nindent 2 }}
  {{- with $part.extraEnv }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}
