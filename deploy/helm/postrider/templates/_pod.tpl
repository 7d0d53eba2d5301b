{{- define "postrider.labels" -}}
app.kubernetes.io/name: postrider
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- /* The labels that select the pods of a component: (list $ "api") */}}
{{- define "postrider.selector" -}}
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- define "postrider.host" -}}
{{- (urlParse .Values.baseURL).hostname -}}
{{- end }}

{{- define "postrider.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "postrider.env" -}}
- name: POSTRIDER_BASE_URL
  value: {{ .Values.baseURL | quote }}
{{- range $name, $value := .Values.settings }}
- name: {{ $name }}
  {{- /* Helm reads numbers of files as floats, which would be printed as 4.294967296e+09. */}}
  {{- if and (kindIs "float64" $value) (eq (floor $value) $value) }}
  value: {{ printf "%.0f" $value | quote }}
  {{- else }}
  value: {{ $value | quote }}
  {{- end }}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "postrider.security" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
capabilities: {drop: [ALL]}
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- /* The fields that all pods have. */}}
{{- define "postrider.anyPod" -}}
automountServiceAccountToken: false
{{- with .Values.serviceAccountName }}
serviceAccountName: {{ . | quote }}
{{- end }}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
securityContext: {fsGroup: 65532}
{{- end }}

{{- /* The pod template of a component: (list $ "api") */}}
{{- define "postrider.template" -}}
{{- $ := index . 0 }}
{{- $component := index . 1 }}
{{- $values := index $.Values $component }}
{{- $tls := and (eq $component "api") $.Values.smtp.tlsSecret }}
{{- $drain := int ($values.drainDelaySeconds | default 0) -}}
metadata:
  labels:
    {{- include "postrider.labels" $ | nindent 4 }}
    app.kubernetes.io/component: {{ $component }}
  {{- with $.Values.podAnnotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- include "postrider.anyPod" $ | nindent 2 }}
  # A stop takes up to 30 seconds after the drain delay.
  terminationGracePeriodSeconds: {{ add $drain 40 }}
  {{- if $values.hostNetwork }}
  hostNetwork: true
  dnsPolicy: ClusterFirstWithHostNet
  {{- end }}
  {{- with $values.nodeSelector }}
  nodeSelector: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.affinity }}
  affinity: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.tolerations }}
  tolerations: {{- toYaml . | nindent 4 }}
  {{- end }}
  topologySpreadConstraints:
    {{- $spread := list (dict "maxSkew" 1 "topologyKey" "kubernetes.io/hostname" "whenUnsatisfiable" "ScheduleAnyway") }}
    {{- range ($values.topologySpreadConstraints | default $spread) }}
    - {{ toYaml . | nindent 6 | trim }}
      labelSelector:
        matchLabels: {{- include "postrider.selector" (list $ $component) | nindent 10 }}
    {{- end }}
  containers:
    - name: postrider
      image: {{ include "postrider.image" $ | quote }}
      imagePullPolicy: {{ $.Values.image.pullPolicy }}
      args: [serve]
      env:
        {{- include "postrider.env" $ | nindent 8 }}
        - {name: POSTRIDER_MIGRATE, value: "off"}
        {{- if $.Values.serviceMonitor.enabled }}
        - {name: POSTRIDER_METRICS_ADDR, value: ":9464"}
        {{- end }}
        {{- if eq $component "api" }}
        - {name: POSTRIDER_DELIVERY_CONCURRENCY, value: "0"}
        - {name: POSTRIDER_DRAIN_DELAY, value: {{ printf "%ds" $drain }}}
        {{- if $tls }}
        - {name: POSTRIDER_SMTP_TLS_CERT, value: /tls/tls.crt}
        - {name: POSTRIDER_SMTP_TLS_KEY, value: /tls/tls.key}
        {{- end }}
        {{- else }}
        - {name: POSTRIDER_DELIVERY_CONCURRENCY, value: {{ int $values.concurrency | quote }}}
        {{- if not (hasKey $.Values.settings "POSTRIDER_EGRESS") }}
        # Processes with the same name divide what mailbox providers allow for a public address.
        - name: POSTRIDER_EGRESS
          {{- if eq $values.egress "release" }}
          value: {{ $.Release.Name | quote }}
          {{- else }}
          valueFrom: {fieldRef: {fieldPath: spec.nodeName}}
          {{- end }}
        {{- end }}
        {{- end }}
        # The name of a pod of a StatefulSet stays the same after a restart.
        - name: POSTRIDER_NODE
          valueFrom: {fieldRef: {fieldPath: metadata.name}}
      envFrom:
        - secretRef: {name: {{ $.Values.secretName | quote }}}
      ports:
        - {name: http, containerPort: 8080}
        {{- if eq $component "api" }}
        - {name: smtp, containerPort: 2525}
        {{- end }}
        {{- if $tls }}
        - {name: submission, containerPort: 2587}
        - {name: submissions, containerPort: 2465}
        {{- end }}
        {{- if $.Values.serviceMonitor.enabled }}
        - {name: metrics, containerPort: 9464}
        {{- end }}
      startupProbe:
        httpGet: {path: /healthz, port: http}
        periodSeconds: 2
        failureThreshold: 90
      livenessProbe:
        httpGet: {path: /healthz, port: http}
        periodSeconds: 10
        failureThreshold: 6
      readinessProbe:
        httpGet: {path: /readyz, port: http}
        periodSeconds: 2
        failureThreshold: 2
      resources: {{- toYaml $values.resources | nindent 8 }}
      securityContext: {{- include "postrider.security" $ | nindent 8 }}
      volumeMounts:
        - {name: spool, mountPath: /spool}
        {{- if $tls }}
        - {name: tls, mountPath: /tls, readOnly: true}
        {{- end }}
        {{- with $.Values.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    - name: spool
      emptyDir: {sizeLimit: {{ $values.spoolSize }}}
    {{- if $tls }}
    - name: tls
      secret: {secretName: {{ $.Values.smtp.tlsSecret | quote }}}
    {{- end }}
    {{- with $.Values.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end }}
