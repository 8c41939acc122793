# Terraform installs the chart, and the operator traces the namespace "shop" with the token of the variable.
terraform {
  required_providers {
    helm = {
      source  = "hashicorp/helm"
      version = "~> 3.0"
    }
  }
}

variable "lumigo_token" {
  type      = string
  sensitive = true
}

resource "helm_release" "lumigo" {
  name             = "lumigo"
  namespace        = "lumigo-system"
  create_namespace = true
  chart            = "oci://registry.example.com/charts/lumigo-operator" # the OCI registry of your chart
  version          = "0.1.0"

  values = [<<-YAML
    cluster:
      name: production
    monitoredNamespaces:
      - namespace: shop
  YAML
  ]

  set_sensitive = [{
    name  = "lumigoToken.value"
    value = var.lumigo_token
  }]
}
