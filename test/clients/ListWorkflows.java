import clients.ops.ApiClient;
import clients.ops.api.WorkflowsApi;

/** Lists the workflows of the service at the given URL. */
public class ListWorkflows {
  public static void main(String[] arguments) throws Exception {
    ApiClient client = new ApiClient();
    client.updateBaseUri(arguments[0]);
    System.out.println(new WorkflowsApi(client).listWorkflows(null, null).size() + " workflows");
  }
}
